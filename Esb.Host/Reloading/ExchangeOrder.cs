using Esb.Core.Storage;
using Esb.Host.Versions;

namespace Esb.Host.Reloading;

/// <summary>What an exchange is to put into service, and for whom.</summary>
/// <param name="Kind">How the version comes: one of the constants.</param>
/// <param name="Decision">The operator and the reason.</param>
/// <param name="Read">Reads and compiles it.</param>
internal sealed record ExchangeOrder(string Kind, OperatorDecision Decision, Func<CancellationToken, Task<ReadConfiguration>> Read)
{
    public const string Start = "start";
    public const string Reload = "reload";
    public const string Apply = "apply";
    public const string Rollback = "rollback";
    public const string AutomaticRollback = "automatic rollback";
    public const string CatchUp = "catch up";

    /// <summary>What the operator has agreed to.</summary>
    public ExchangeMeans Means { get; init; }

    /// <summary>The version that the change was made of; null if any will do.</summary>
    public long? BasedOn { get; init; }

    /// <summary>True if only this host exchanges: the others run it already.</summary>
    public bool IsLocal => Kind == CatchUp;

    /// <summary>True if it is put out of service again where an endpoint cannot start with it.</summary>
    public bool IsRevocable => Kind is Reload or Apply;
}

/// <summary>What an operator agrees to, so that an exchange is not refused.</summary>
/// <param name="Migrates">True to create replacement queues and tables and to move waiting messages to them.</param>
/// <param name="Suspends">True to suspend instances of workflows that could not go on.</param>
internal readonly record struct ExchangeMeans(bool Migrates, bool Suspends);
