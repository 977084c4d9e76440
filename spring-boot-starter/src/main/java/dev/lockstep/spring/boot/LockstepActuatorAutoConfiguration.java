package dev.lockstep.spring.boot;

import dev.lockstep.job.Jobs;
import dev.lockstep.outbox.Outbox;
import dev.lockstep.spring.LockstepRuntime;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Health and {@code /actuator/lockstep}. */
@AutoConfiguration(after = LockstepRuntimeAutoConfiguration.class)
@ConditionalOnClass({HealthIndicator.class, Endpoint.class, ConditionalOnAvailableEndpoint.class})
@ConditionalOnBean(LockstepRuntime.class)
public class LockstepActuatorAutoConfiguration {
  @Bean
  @ConditionalOnMissingBean(name = "lockstepHealthIndicator")
  @ConditionalOnEnabledHealthIndicator("lockstep")
  LockstepHealthIndicator lockstepHealthIndicator(LockstepRuntime runtime) {
    return new LockstepHealthIndicator(runtime);
  }

  @Bean
  @ConditionalOnMissingBean
  @ConditionalOnAvailableEndpoint(endpoint = LockstepEndpoint.class)
  LockstepEndpoint lockstepEndpoint(LockstepRuntime runtime, Jobs jobs, Outbox outbox) {
    return new LockstepEndpoint(runtime, jobs, outbox);
  }
}
