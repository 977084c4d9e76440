package dev.lockstep.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.SerializationException;
import org.junit.jupiter.api.Test;

/** Every exception of Kafka's client has its place; one that a new version brings gets one here. */
class KafkaFaultTest {
  private static final String ERRORS = "org.apache.kafka.common.errors.";

  private static final String OF_THE_RECORD =
      """
      InvalidTimestampException RecordBatchTooLargeException RecordTooLargeException
      UnsupportedForMessageFormatException
      org.apache.kafka.common.InvalidRecordException
      """;

  private static final String OF_THE_SINK =
      """
      ApiException AuthenticationException AuthorizationException
      AuthorizerNotReadyException BrokerIdNotRegisteredException BrokerNotAvailableException
      ClusterAuthorizationException ConcurrentTransactionsException ControllerMovedException
      CoordinatorLoadInProgressException CoordinatorNotAvailableException
      CorruptRecordException DelegationTokenAuthorizationException
      DelegationTokenDisabledException DelegationTokenExpiredException
      DelegationTokenNotFoundException DelegationTokenOwnerMismatchException
      DisconnectException DuplicateBrokerRegistrationException DuplicateResourceException
      DuplicateSequenceException DuplicateVoterException ElectionNotNeededException
      EligibleLeadersNotAvailableException FeatureUpdateFailedException
      FencedInstanceIdException FencedLeaderEpochException FencedMemberEpochException
      FencedStateEpochException FetchSessionIdNotFoundException FetchSessionTopicIdException
      GroupAuthorizationException GroupIdNotFoundException GroupMaxSizeReachedException
      GroupNotEmptyException GroupSubscribedToTopicException IllegalGenerationException
      IllegalSaslStateException InconsistentClusterIdException
      InconsistentGroupProtocolException InconsistentTopicIdException
      InconsistentVoterSetException IneligibleReplicaException
      InvalidCommitOffsetSizeException InvalidConfigurationException
      InvalidFetchSessionEpochException InvalidFetchSizeException InvalidGroupIdException
      InvalidOffsetException InvalidPartitionsException InvalidPidMappingException
      InvalidPrincipalTypeException InvalidProducerEpochException
      InvalidRecordStateException InvalidRegistrationException InvalidRegularExpression
      InvalidReplicaAssignmentException InvalidReplicationFactorException
      InvalidRequestException InvalidRequiredAcksException InvalidSessionTimeoutException
      InvalidShareSessionEpochException InvalidTopicException InvalidTxnStateException
      InvalidTxnTimeoutException InvalidUpdateVersionException InvalidVoterKeyException
      KafkaStorageException LeaderNotAvailableException ListenerNotFoundException
      LogDirNotFoundException MemberIdRequiredException MismatchedEndpointTypeException
      NetworkException NewLeaderElectedException NoReassignmentInProgressException
      NotControllerException NotCoordinatorException NotEnoughReplicasAfterAppendException
      NotEnoughReplicasException NotLeaderOrFollowerException OffsetMetadataTooLarge
      OffsetMovedToTieredStorageException OffsetNotAvailableException
      OffsetOutOfRangeException OperationNotAttemptedException OutOfOrderSequenceException
      PolicyViolationException PositionOutOfRangeException
      PreferredLeaderNotAvailableException PrincipalDeserializationException
      ProducerFencedException ReassignmentInProgressException RebalanceInProgressException
      RebootstrapRequiredException ReplicaNotAvailableException ResourceNotFoundException
      SaslAuthenticationException SecurityDisabledException
      ShareSessionLimitReachedException ShareSessionNotFoundException
      SnapshotNotFoundException SslAuthenticationException StaleBrokerEpochException
      StaleMemberEpochException StreamsInvalidTopologyEpochException
      StreamsInvalidTopologyException StreamsTopologyFencedException
      TelemetryTooLargeException ThrottlingQuotaExceededException TimeoutException
      TopicAuthorizationException TopicDeletionDisabledException TopicExistsException
      TransactionAbortableException TransactionAbortedException
      TransactionCoordinatorFencedException TransactionalIdAuthorizationException
      TransactionalIdNotFoundException UnacceptableCredentialException
      UnknownControllerIdException UnknownLeaderEpochException UnknownMemberIdException
      UnknownProducerIdException UnknownServerException UnknownSubscriptionIdException
      UnknownTopicIdException UnknownTopicOrPartitionException UnreleasedInstanceIdException
      UnstableOffsetCommitException UnsupportedAssignorException
      UnsupportedByAuthenticationException UnsupportedCompressionTypeException
      UnsupportedEndpointTypeException UnsupportedSaslMechanismException
      UnsupportedVersionException VoterNotFoundException
      org.apache.kafka.clients.StaleMetadataException
      org.apache.kafka.clients.consumer.RetriableCommitFailedException
      org.apache.kafka.clients.consumer.internals.AbstractCoordinator$UnjoinedGroupException
      org.apache.kafka.clients.consumer.internals.NoAvailableBrokersException
      org.apache.kafka.clients.producer.BufferExhaustedException
      org.apache.kafka.common.network.DelayedResponseAuthenticationException
      org.apache.kafka.common.requests.FindCoordinatorRequest$NoBatchedFindCoordinatorsException
      org.apache.kafka.common.requests.OffsetFetchRequest$NoBatchedOffsetFetchRequestException
      """;

  @Test
  void everyExceptionOfTheClientHasAClass() throws Exception {
    Map<String, KafkaFault> stated = new TreeMap<>();
    names(OF_THE_RECORD).forEach(name -> stated.put(name, KafkaFault.RECORD));
    names(OF_THE_SINK).forEach(name -> stated.put(name, KafkaFault.SINK));

    Map<String, KafkaFault> found = new TreeMap<>();
    for (Class<?> type : exceptions()) {
      found.put(type.getName(), KafkaFault.of(type));
    }

    assertThat(found).isEqualTo(stated);
  }

  @Test
  void whatIsNoAnswerOfABrokerHasOneToo() {
    assertThat(KafkaFault.of(new SerializationException("bad"))).isEqualTo(KafkaFault.RECORD);
    assertThat(KafkaFault.of(new KafkaException("anything"))).isEqualTo(KafkaFault.SINK);
    assertThat(KafkaFault.of(new IllegalStateException("closed"))).isEqualTo(KafkaFault.SINK);
    assertThat(KafkaFault.of(new AssertionError("a mistake"))).isEqualTo(KafkaFault.SINK);
  }

  private static List<String> names(String text) {
    List<String> names = new ArrayList<>();
    for (String name : text.strip().split("\\s+", -1)) {
      names.add(name.contains(".") ? name : ERRORS + name);
    }
    return names;
  }

  /** All that can be thrown: every class in the client's archive that can have instances. */
  private static List<Class<?>> exceptions() throws Exception {
    File archive =
        new File(ApiException.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    List<Class<?>> found = new ArrayList<>();
    try (JarFile jar = new JarFile(archive)) {
      for (JarEntry entry : Collections.list(jar.entries())) {
        String name = entry.getName();
        if (name.matches("org/apache/kafka/(clients|common)/.*Exception\\.class")
            || name.matches(ERRORS.replace('.', '/') + "[^$]*\\.class")) {
          Class<?> type =
              Class.forName(
                  name.substring(0, name.length() - 6).replace('/', '.'),
                  false,
                  KafkaFaultTest.class.getClassLoader());
          if (ApiException.class.isAssignableFrom(type)
              && !Modifier.isAbstract(type.getModifiers())) {
            found.add(type);
          }
        }
      }
    }
    return found;
  }
}
