namespace Esb.Core;

/// <summary>When a part of the bus starts; stopping goes the other way round.</summary>
public enum BusStage
{
    /// <summary>Stores and audit: what everything else writes to.</summary>
    Stores,

    /// <summary>Topics.</summary>
    Topics,

    /// <summary>Endpoints that send.</summary>
    Outbound,

    /// <summary>Endpoints that read: last to start and first to stop.</summary>
    Inbound,
}

/// <summary>A part of the bus with a life of its own.</summary>
public interface IBusPart
{
    /// <summary>When it starts.</summary>
    BusStage Stage { get; }

    /// <summary>Classes or contracts of parts of the same stage, or an earlier one, that start before it and stop after it; one that is not
    /// there
    /// is not waited for.</summary>
    IReadOnlyList<Type> StartsAfter => [];

    /// <summary>Starts it. A server that is away is no failure: the part goes on trying and says so in its health.</summary>
    Task StartAsync(CancellationToken cancellationToken);

    /// <summary>Finishes what is under way and stops; when the token is cancelled, without finishing.</summary>
    Task StopAsync(CancellationToken cancellationToken);
}

/// <summary>The part that opens the stores.</summary>
public interface IStorePart : IBusPart;

/// <summary>A part that outbound endpoints need when they start, such as tables.</summary>
public interface IOutboundGround : IBusPart;

/// <summary>A part that inbound endpoints need when they start, such as listeners.</summary>
public interface IInboundGround : IBusPart;

/// <summary>Tells whether what is accepted now can be confirmed and recorded. Thread-safe.</summary>
public interface IHealthCheck
{
    /// <summary>What is checked, such as <c>topics</c>.</summary>
    string Name { get; }

    /// <summary>Null when all is well; otherwise what is not, in a few words and without secrets.</summary>
    ValueTask<string?> CheckAsync(CancellationToken cancellationToken);
}

/// <summary>Tells what somebody should mend although messages are taken in: what runs is not what the files say, for one. Thread-safe.</summary>
public interface IHealthNotices
{
    /// <summary>A code and a sentence each, without secrets; empty when there is nothing.</summary>
    IEnumerable<string> Notices { get; }
}
