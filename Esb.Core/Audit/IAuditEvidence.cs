namespace Esb.Core.Audit;

/// <summary>Verifies that audit facts are unchanged (tamper evidence by hash chains and anchors). Thread-safe.</summary>
public interface IAuditEvidence
{
    /// <summary>Reads all facts of a range of days, follows their chains, and compares them with the anchors, and their search fields with
    /// their content.</summary>
    /// <param name="from">The first day (UTC); null for the oldest.</param>
    /// <param name="to">The last day (UTC); null for the youngest.</param>
    /// <param name="tell">Receives each chain of a day after it has been followed to its end.</param>
    /// <param name="cancellationToken">Cancels the verification.</param>
    /// <exception cref="Errors.EsbException">The store cannot be read.</exception>
    Task<AuditVerdict> VerifyAsync(DateOnly? from, DateOnly? to, Action<FollowedChain> tell, CancellationToken cancellationToken);

    /// <summary>As <see cref="VerifyAsync"/>, but believes nothing that an anchor does not confirm: a chain of a day that is over without
    /// an anchor is a break, and a body counts as erased only by a fact up to which its chain is anchored.</summary>
    /// <param name="from">The first day (UTC); null for the oldest.</param>
    /// <param name="to">The last day (UTC); null for the youngest.</param>
    /// <param name="today">The day that is not over.</param>
    /// <param name="tell">Receives each chain of a day after it has been followed to its end.</param>
    /// <param name="cancellationToken">Cancels the verification.</param>
    /// <exception cref="Errors.EsbException">The store cannot be read.</exception>
    Task<AuditVerdict> VerifyStrictlyAsync(
        DateOnly? from,
        DateOnly? to,
        DateOnly today,
        Action<FollowedChain> tell,
        CancellationToken cancellationToken
    );
}

/// <summary>Facts that one writer recorded on one day.</summary>
/// <param name="Day">The day (UTC) on which they happened.</param>
/// <param name="Chain">The writer: one run of a host.</param>
/// <param name="First">Number of the first fact present.</param>
/// <param name="Last">Number of the last fact present.</param>
/// <param name="Facts">Number of facts present.</param>
/// <param name="AnchoredTo">Number of the last fact that an anchor confirms; null if none.</param>
/// <param name="Breaks">Number of breaks found.</param>
public sealed record FollowedChain(DateOnly Day, Guid Chain, long First, long Last, long Facts, long? AnchoredTo, long Breaks);

/// <summary>A position at which the facts differ from what was recorded.</summary>
/// <param name="Day">The day.</param>
/// <param name="Chain">The chain; null if the fact has none.</param>
/// <param name="From">Number of the first fact affected.</param>
/// <param name="To">Number of the last fact affected.</param>
/// <param name="Fact">Id of the fact, if present.</param>
/// <param name="Problem">The problem, as a sentence.</param>
/// <param name="LastAnchor">The last valid anchor before the break.</param>
public sealed record AuditBreak(DateOnly Day, Guid? Chain, long From, long To, Guid? Fact, string Problem, AuditAnchor? LastAnchor);

/// <summary>A valid anchor.</summary>
/// <param name="Number">Number of the last fact that it confirms.</param>
/// <param name="At">Time at which it was written.</param>
public sealed record AuditAnchor(long Number, DateTimeOffset At);

/// <summary>Result of a verification.</summary>
public sealed record AuditVerdict
{
    /// <summary>Number of facts read.</summary>
    public required long Facts { get; init; }

    /// <summary>Facts recorded by a version without chains, which cannot be verified.</summary>
    public required long Unchained { get; init; }

    /// <summary>Facts whose bodies were erased on request.</summary>
    public required long Erased { get; init; }

    /// <summary>Number of anchors compared.</summary>
    public required long Anchors { get; init; }

    /// <summary>The first breaks, at most 100.</summary>
    public required IReadOnlyList<AuditBreak> Breaks { get; init; }

    /// <summary>Total number of breaks.</summary>
    public required long TotalBreaks { get; init; }
}
