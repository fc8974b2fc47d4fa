namespace Esb.IntegrationTests.Faults.Checking;

/// <summary>What the checker found out about one endpoint.</summary>
internal sealed record Verdict
{
    public required string Endpoint { get; init; }

    /// <summary>Whether each message had to have its effect once.</summary>
    public bool IsOnce { get; init; }

    /// <summary>Whether the messages of a key had to stay in order.</summary>
    public bool IsOrdered { get; init; }

    /// <summary>Messages that were tried to send.</summary>
    public int Attempted { get; init; }

    /// <summary>Those that the bus accepted.</summary>
    public int Acknowledged { get; init; }

    /// <summary>Arrivals.</summary>
    public int Delivered { get; init; }

    /// <summary>Different messages among them.</summary>
    public int Unique { get; init; }

    /// <summary>Accepted, not delivered, but kept where an operator finds them.</summary>
    public int Kept { get; init; }

    /// <summary>Accepted, neither delivered nor kept.</summary>
    public int Lost { get; init; }

    /// <summary>Delivered though nobody knew whether they were accepted.</summary>
    public int Recovered { get; init; }

    /// <summary>Delivered though never sent, refused, or with another body.</summary>
    public int Unexpected { get; init; }

    /// <summary>Arrivals beyond the first of each message.</summary>
    public int Duplicated { get; init; }

    /// <summary>The same where only one effect was promised.</summary>
    public int EffectDuplicated { get; init; }

    /// <summary>Copies that the bus flagged.</summary>
    public int Flagged { get; init; }

    /// <summary>Arrivals after a later message of their key.</summary>
    public int Reordered { get; init; }

    /// <summary>Still in a queue when the wait was over; null where nobody looked.</summary>
    public int? Stuck { get; init; }

    /// <summary>Accepted messages without exactly one terminal state in the audit; null where nobody looked.</summary>
    public int? AuditGap { get; init; }

    /// <summary>The promises that do not hold, in words; empty when all do.</summary>
    public required IReadOnlyList<string> Broken { get; init; }

    public override string ToString() =>
        $"{Endpoint}: attempted {Attempted}, acknowledged {Acknowledged}, delivered {Delivered}, unique {Unique}, kept {Kept}, lost "
        + $"{Lost}, recovered {Recovered}, "
        + $"unexpected {Unexpected}, duplicated {Duplicated}, effect-duplicated {EffectDuplicated}, flagged {Flagged}, reordered "
        + $"{Reordered}, stuck {Shown(Stuck)}, audit gap {Shown(AuditGap)}"
        + (Broken.Count == 0 ? "" : $"; broken: {string.Join("; ", Broken)}");

    /// <summary>A count for people: "–" where nothing was compared.</summary>
    public static string Shown(int? count) => count is { } known ? $"{known}" : "–";
}
