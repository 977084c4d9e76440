package dev.lockstep.spring.boot;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;

/** An order, as JPA keeps it. */
@Entity
@Table(name = "shop_order")
class ShopOrder {
  @Id private String id = "";
  private boolean shipped;

  /** For JPA. */
  protected ShopOrder() {}

  ShopOrder(String id) {
    this.id = id;
  }

  void ship() {
    shipped = true;
  }

  boolean isShipped() {
    return shipped;
  }

  String id() {
    return id;
  }
}
