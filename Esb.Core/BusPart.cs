namespace Esb.Core;

/// <summary>Start stage of a part of the bus; parts stop in reverse order.</summary>
public enum BusStage
{
    /// <summary>Stores and audit, to which all other parts write.</summary>
    Stores,

    /// <summary>Topics.</summary>
    Topics,

    /// <summary>Endpoints that send.</summary>
    Outbound,

    /// <summary>Endpoints that read: last to start and first to stop.</summary>
    Inbound,
}

/// <summary>A part of the bus with its own life cycle.</summary>
public interface IBusPart
{
    /// <summary>Stage at which it starts.</summary>
    BusStage Stage { get; }

    /// <summary>Classes or contracts of parts of the same or an earlier stage that start before it and stop after it; absent parts are
    /// ignored.</summary>
    IReadOnlyList<Type> StartsAfter => [];

    /// <summary>Starts the part. An unreachable server is not an error: the part keeps retrying and reports so in its health.</summary>
    Task StartAsync(CancellationToken cancellationToken);

    /// <summary>Completes in-flight work and stops; if the token is cancelled, stops without completing it.</summary>
    Task StopAsync(CancellationToken cancellationToken);
}

/// <summary>The part that opens the stores.</summary>
public interface IStorePart : IBusPart;

/// <summary>A part that outbound endpoints need when they start, such as tables.</summary>
public interface IOutboundGround : IBusPart;

/// <summary>A part that inbound endpoints need when they start, such as listeners.</summary>
public interface IInboundGround : IBusPart;

/// <summary>Checks whether messages accepted now can be confirmed and recorded. Thread-safe.</summary>
public interface IHealthCheck
{
    /// <summary>Name of the check, such as <c>topics</c>.</summary>
    string Name { get; }

    /// <summary>Returns null if healthy; otherwise the problem, brief and without secrets.</summary>
    ValueTask<string?> CheckAsync(CancellationToken cancellationToken);
}

/// <summary>Reports problems to fix although messages are accepted, such as a running configuration that differs from its files.
/// Thread-safe.</summary>
public interface IHealthNotices
{
    /// <summary>Notices, each a code and a sentence without secrets; empty if there are none.</summary>
    IEnumerable<string> Notices { get; }
}
