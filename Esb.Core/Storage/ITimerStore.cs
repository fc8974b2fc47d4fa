namespace Esb.Core.Storage;

/// <summary>Something to do at a time, or as soon as possible. Immutable.</summary>
/// <param name="Id">Identifies it.</param>
/// <param name="Kind">Who does it, such as <c>workflow.wait</c>.</param>
/// <param name="Target">Whom it concerns, such as an instance.</param>
public sealed record StoredTimer(Guid Id, string Kind, string Target)
{
    /// <summary>Time from the commit that stores it, by the clock of the store; null for <see cref="Until"/>.</summary>
    public TimeSpan? Delay { get; init; }

    /// <summary>The instant; null for <see cref="Delay"/>.</summary>
    public DateTimeOffset? Until { get; init; }

    /// <summary>What is needed to do it.</summary>
    public string? Data { get; init; }

    /// <summary>When it was due; set when it is claimed.</summary>
    public DateTimeOffset Due { get; init; }

    /// <summary>Time between that and its claim, by the clock of the store; set when it is claimed.</summary>
    public TimeSpan Late { get; init; }
}

/// <summary>Timers on the clock of the store. A timer never fires early; it is removed by the change that is its effect, and so takes
/// effect once. Thread-safe.</summary>
public interface ITimerStore
{
    /// <summary>Claims due timers, longest due first: no other host gets them until the claim ends.</summary>
    /// <param name="kinds">The kinds.</param>
    /// <param name="limit">At most this many.</param>
    /// <param name="claim">How long they stay claimed.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    Task<ClaimedTimers> ClaimAsync(IReadOnlyList<string> kinds, int limit, TimeSpan claim, CancellationToken cancellationToken);

    /// <summary>Stores timers on their own; one with the id of another replaces it.</summary>
    Task SetAsync(IReadOnlyList<StoredTimer> timers, CancellationToken cancellationToken);

    /// <summary>Postpones a timer, if it is still there.</summary>
    /// <returns>True if it is.</returns>
    Task<bool> PostponeAsync(Guid id, TimeSpan delay, CancellationToken cancellationToken);

    /// <summary>Ends the claims of a process that has ended, where no other host shares the store.</summary>
    /// <param name="leases">The kind of timers that stand for work of a host: they are due at once.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    Task ReleaseAsync(string leases, CancellationToken cancellationToken);

    /// <summary>Removes timers.</summary>
    Task RemoveAsync(IReadOnlyList<Guid> ids, CancellationToken cancellationToken);
}

/// <summary>Claimed timers.</summary>
/// <param name="Timers">The timers.</param>
/// <param name="Next">Time until the next claim may find one; null if none waits.</param>
public sealed record ClaimedTimers(IReadOnlyList<StoredTimer> Timers, TimeSpan? Next);
