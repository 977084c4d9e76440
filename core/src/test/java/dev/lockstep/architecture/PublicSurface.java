package dev.lockstep.architecture;

import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The types a user meets who starts from some types and follows every public signature. */
final class PublicSurface {
  private final Set<Class<?>> reached = new HashSet<>();
  private final Set<Type> seen = new HashSet<>();
  private final Deque<Class<?>> open = new ArrayDeque<>();

  private PublicSurface() {}

  static Set<Class<?>> reachableFrom(Set<Class<?>> roots) {
    PublicSurface surface = new PublicSurface();
    roots.forEach(surface::meet);
    while (!surface.open.isEmpty()) {
      surface.follow(surface.open.remove());
    }
    return surface.reached;
  }

  private void follow(Class<?> type) {
    meet(type.getGenericSuperclass());
    meetAll(type.getGenericInterfaces());
    meetAll(type.getTypeParameters());
    meetAll(type.getPermittedSubclasses());
    meet(type.getDeclaringClass());
    for (Class<?> member : type.getDeclaredClasses()) {
      if (isVisible(member.getModifiers())) {
        meet(member);
      }
    }
    for (Field field : type.getDeclaredFields()) {
      if (isVisible(field)) {
        meet(field.getGenericType());
      }
    }
    // Of a record, constructor and accessors name every component.
    for (Executable constructor : type.getDeclaredConstructors()) {
      followSignature(constructor);
    }
    for (Method method : type.getDeclaredMethods()) {
      if (isVisible(method)) {
        meet(method.getGenericReturnType());
        followSignature(method);
      }
    }
  }

  private void followSignature(Executable executable) {
    if (isVisible(executable)) {
      meetAll(executable.getGenericParameterTypes());
      meetAll(executable.getGenericExceptionTypes());
      meetAll(executable.getTypeParameters());
    }
  }

  private void meetAll(Type @Nullable [] types) {
    if (types != null) {
      for (Type type : types) {
        meet(type);
      }
    }
  }

  private void meet(@Nullable Type type) {
    if (type == null || !seen.add(type)) {
      return;
    }
    if (type instanceof Class<?> c) {
      Class<?> element = c;
      while (element.isArray()) {
        element = element.getComponentType();
      }
      // What others publish leads to nothing of ours.
      if (element.getName().startsWith("dev.lockstep.") && reached.add(element)) {
        open.add(element);
      }
    } else if (type instanceof ParameterizedType p) {
      meet(p.getRawType());
      meetAll(p.getActualTypeArguments());
    } else if (type instanceof GenericArrayType a) {
      meet(a.getGenericComponentType());
    } else if (type instanceof WildcardType w) {
      meetAll(w.getUpperBounds());
      meetAll(w.getLowerBounds());
    } else if (type instanceof TypeVariable<?> v) {
      meetAll(v.getBounds());
    }
  }

  private static boolean isVisible(Member member) {
    return isVisible(member.getModifiers());
  }

  private static boolean isVisible(int modifiers) {
    return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
  }
}
