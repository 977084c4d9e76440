package dev.lockstep.spring;

import java.lang.annotation.Annotation;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ReflectionUtils;

/**
 * An annotated method of a bean. The bean is asked for at each call, so that scopes work.
 *
 * @param declared the method as the bean's class has it
 */
record BeanMethod<A extends Annotation>(
    ConfigurableListableBeanFactory beans,
    String bean,
    Class<?> type,
    Method declared,
    A annotation) {

  /** Finds the methods with an annotation, without creating any bean. */
  static <A extends Annotation> List<BeanMethod<A>> annotated(
      ConfigurableListableBeanFactory beans, Class<A> annotation) {
    List<BeanMethod<A>> found = new ArrayList<>();
    for (String name : beans.getBeanNamesForType(Object.class, true, false)) {
      Class<?> type =
          ScopedProxyUtils.isScopedTarget(name)
              ? null
              : AutoProxyUtils.determineTargetClass(beans, name);
      if (type == null || type.getName().startsWith("org.springframework.")) {
        continue;
      }
      methods(type, annotation)
          .forEach((method, one) -> found.add(new BeanMethod<>(beans, name, type, method, one)));
    }
    return found;
  }

  private static <A extends Annotation> Map<Method, A> methods(Class<?> type, Class<A> annotation) {
    try {
      return MethodIntrospector.selectMethods(
          type,
          (MethodIntrospector.MetadataLookup<A>)
              method -> AnnotatedElementUtils.findMergedAnnotation(method, annotation));
    } catch (LinkageError e) {
      // A bean of a library may mention types that are not there.
      return Map.of();
    }
  }

  /** Calls the method through the bean's proxy, if it has one. */
  @Nullable Object invoke(@Nullable Object... arguments) throws Exception {
    Object target = beans.getBean(bean);
    Method method = AopUtils.selectInvocableMethod(declared, target.getClass());
    ReflectionUtils.makeAccessible(method);
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      ReflectionUtils.rethrowException(e.getTargetException());
      throw e;
    }
  }

  @Override
  public String toString() {
    return type.getSimpleName() + "." + declared.getName();
  }
}
