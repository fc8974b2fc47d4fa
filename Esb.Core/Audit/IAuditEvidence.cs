namespace Esb.Core.Audit;

/// <summary>Tells whether audit facts are as they were recorded (tamper evidence by hash chains and anchors). Thread-safe.</summary>
public interface IAuditEvidence
{
    /// <summary>Reads every fact of some days, follows their chains, compares them with the anchors, and the fields that they are found by with those that they have.</summary>
    /// <param name="from">The first day (UTC); null for the oldest.</param>
    /// <param name="to">The last day (UTC); null for the youngest.</param>
    /// <param name="tell">Hears of each chain of a day once it has been followed to its end.</param>
    /// <param name="cancellationToken">Ends it.</param>
    /// <exception cref="Errors.EsbException">The store cannot be read.</exception>
    Task<AuditVerdict> VerifyAsync(DateOnly? from, DateOnly? to, Action<FollowedChain> tell, CancellationToken cancellationToken);
}

/// <summary>The facts that one writer recorded of one day.</summary>
/// <param name="Day">The day (UTC) on which they happened.</param>
/// <param name="Chain">The writer: one run of a host.</param>
/// <param name="First">The number of the first fact that is there.</param>
/// <param name="Last">The number of the last.</param>
/// <param name="Facts">How many are there.</param>
/// <param name="AnchoredTo">The number of the last fact that an anchor confirms; null where none does.</param>
/// <param name="Breaks">How many breaks were found.</param>
public sealed record FollowedChain(DateOnly Day, Guid Chain, long First, long Last, long Facts, long? AnchoredTo, long Breaks);

/// <summary>A place where the facts are not what was recorded.</summary>
/// <param name="Day">The day.</param>
/// <param name="Chain">The chain; null where a fact has none.</param>
/// <param name="From">The number of the first fact that is concerned.</param>
/// <param name="To">The number of the last.</param>
/// <param name="Fact">The id of the fact, where it is there.</param>
/// <param name="Problem">What is wrong, as a sentence.</param>
/// <param name="LastAnchor">The last anchor before it that holds: the number of its fact, and when it was written.</param>
public sealed record AuditBreak(DateOnly Day, Guid? Chain, long From, long To, Guid? Fact, string Problem, AuditAnchor? LastAnchor);

/// <summary>An anchor that holds.</summary>
/// <param name="Number">The number of the last fact that it confirms.</param>
/// <param name="At">When it was written.</param>
public sealed record AuditAnchor(long Number, DateTimeOffset At);

/// <summary>What a verification found.</summary>
public sealed record AuditVerdict
{
    /// <summary>How many facts were read.</summary>
    public required long Facts { get; init; }

    /// <summary>How many of them were recorded by a version without chains: nothing is known of them.</summary>
    public required long Unchained { get; init; }

    /// <summary>How many had their bodies erased on request.</summary>
    public required long Erased { get; init; }

    /// <summary>How many anchors were compared.</summary>
    public required long Anchors { get; init; }

    /// <summary>The first breaks, at most 100.</summary>
    public required IReadOnlyList<AuditBreak> Breaks { get; init; }

    /// <summary>How many breaks there are.</summary>
    public required long TotalBreaks { get; init; }
}
