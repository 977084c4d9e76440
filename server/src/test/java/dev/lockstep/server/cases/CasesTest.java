package dev.lockstep.server.cases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class CasesTest {
  private sealed interface Shape permits Round, Square {}

  private sealed interface Round extends Shape permits Circle, Ellipse {}

  private record Circle(int radius) implements Round {}

  private record Ellipse(int width, int height) implements Round {}

  private record Square(int side) implements Shape {}

  @Test
  void eachKindHasItsOwnCase() {
    Cases<Shape, Integer> width =
        Cases.<Shape, Integer>over(Shape.class)
            .when(Circle.class, circle -> 2 * circle.radius())
            .when(Ellipse.class, Ellipse::width)
            .when(Square.class, Square::side)
            .complete();
    assertThat(width.of(new Circle(2))).isEqualTo(4);
    assertThat(width.of(new Ellipse(5, 3))).isEqualTo(5);
    assertThat(width.of(new Square(7))).isEqualTo(7);
  }

  @Test
  void aTableThatLacksAKindCannotBeMade() {
    assertThatThrownBy(
            () ->
                Cases.<Shape, Integer>over(Shape.class)
                    .when(Circle.class, Circle::radius)
                    .when(Square.class, Square::side)
                    .complete())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("No case for " + Ellipse.class.getName());
  }

  @Test
  void aKindThatNeverComesIsNamedWhenItDoes() {
    Cases<Round, Integer> radius =
        Cases.<Round, Integer>over(Round.class)
            .when(Circle.class, Circle::radius)
            .never(Ellipse.class)
            .complete();
    assertThatThrownBy(() -> radius.of(new Ellipse(5, 3)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("Ellipse[width=5, height=3]");
  }

  @Test
  void aKindHasOneCase() {
    assertThatThrownBy(
            () ->
                Cases.<Shape, Integer>over(Shape.class)
                    .when(Square.class, Square::side)
                    .never(Square.class))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("has its case already");
  }

  @Test
  void aGroupOfKindsIsNoKind() {
    assertThatThrownBy(() -> Cases.<Shape, Integer>over(Shape.class).never(Round.class))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("is no kind of");
  }

  @Test
  void onlyASealedTypeHasKinds() {
    assertThatThrownBy(() -> Cases.<Square, Integer>over(Square.class))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("is not sealed");
  }
}
