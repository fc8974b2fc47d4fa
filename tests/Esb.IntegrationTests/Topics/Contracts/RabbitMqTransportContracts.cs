namespace Esb.IntegrationTests.Topics.Contracts;

public sealed class RabbitMqTopicTransportTests() : TopicTransportContract(new RabbitMqUnderTest());

public sealed class RabbitMqTransportOrderTests() : TransportOrderContract(new RabbitMqUnderTest());

public sealed class RabbitMqTransportRetryTests() : TransportRetryContract(new RabbitMqUnderTest());

public sealed class RabbitMqTransportDeadLetterTests() : TransportDeadLetterContract(new RabbitMqUnderTest());

public sealed class RabbitMqTransportRequestTests() : TransportRequestContract(new RabbitMqUnderTest());

public sealed class RabbitMqTransportQueueTests() : TransportQueueContract(new RabbitMqUnderTest());

public sealed class RabbitMqTransportSubscriptionTests() : TransportSubscriptionContract(new RabbitMqUnderTest());

public sealed class RabbitMqTransportUnroutableTests() : TransportUnroutableContract(new RabbitMqUnderTest());
