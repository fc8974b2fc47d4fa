using Esb.Configuration;
using Esb.Core.Topics;
using Esb.Topics.Memory;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.IntegrationTests.Topics.Contracts;

/// <summary>The embedded transport: one host, and nothing to remove.</summary>
internal sealed class MemoryUnderTest : ITransportUnderTest
{
    public ITopicTransport Create(IReadOnlyDictionary<string, TopicConfig> topics) =>
        new MemoryTransport(new LimitsConfig { InFlight = 10_000 }, TimeProvider.System, NullLogger<MemoryTransport>.Instance);

    public IUnroutableMessages UnroutableOf(ITopicTransport transport) => ((MemoryTransport)transport).Unroutable;
}
