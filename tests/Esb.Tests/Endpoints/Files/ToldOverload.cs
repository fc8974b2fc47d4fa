using Esb.Configuration;
using Esb.Core.Topics;
using Esb.Delivery.Intake.Overload;
using Microsoft.Extensions.Logging.Abstractions;
using NSubstitute;

namespace Esb.Tests.Endpoints.Files;

/// <summary>The limits that all endpoints of a host share, as a test tells them.</summary>
internal sealed class ToldOverload
{
    private int _asked;

    public ToldOverload(LimitsConfig limits)
    {
        var transport = Substitute.For<ITopicTransport>();
        transport.Status.Returns(_ => new TransportStatus(AreTopicsReady));
        Gate = new OverloadGate(
            limits,
            new MemoryMarks(limits, TimeProvider.System, Measure, () => { }),
            transport,
            TimeProvider.System,
            NullLogger<OverloadGate>.Instance
        );
    }

    public OverloadGate Gate { get; }

    /// <summary>Memory in use, in percent.</summary>
    public int Memory { get; set; }

    public bool AreTopicsReady { get; set; } = true;

    /// <summary>How often somebody has wanted to enter, or waits to: each of them looks at the memory, a few times a second at
    /// most.</summary>
    public int Asked => Volatile.Read(ref _asked);

    private int Measure()
    {
        Interlocked.Increment(ref _asked);
        return Memory;
    }
}
