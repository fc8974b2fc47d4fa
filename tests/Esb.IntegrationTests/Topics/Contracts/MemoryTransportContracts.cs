namespace Esb.IntegrationTests.Topics.Contracts;

public sealed class MemoryTransportOrderTests() : TransportOrderContract(new MemoryUnderTest());

public sealed class MemoryTransportRetryTests() : TransportRetryContract(new MemoryUnderTest());

public sealed class MemoryTransportDeadLetterTests() : TransportDeadLetterContract(new MemoryUnderTest());

public sealed class MemoryTransportRequestTests() : TransportRequestContract(new MemoryUnderTest());

public sealed class MemoryTransportQueueTests() : TransportQueueContract(new MemoryUnderTest());

public sealed class MemoryTransportSubscriptionTests() : TransportSubscriptionContract(new MemoryUnderTest());

public sealed class MemoryTransportUnroutableTests() : TransportUnroutableContract(new MemoryUnderTest());
