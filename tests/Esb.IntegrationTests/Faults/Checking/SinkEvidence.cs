namespace Esb.IntegrationTests.Faults.Checking;

/// <summary>Everything that is known about what arrived at one endpoint's outside.</summary>
internal sealed record SinkEvidence
{
    /// <summary>The endpoint.</summary>
    public required string Endpoint { get; init; }

    public SinkPromises Promises { get; init; }

    /// <summary>What arrived, in the order in which it did.</summary>
    public required IReadOnlyList<SinkEntry> Entries { get; init; }

    /// <summary>The ids, as the bus gave them, of what it kept instead: dead letters, parked and unroutable messages.</summary>
    public IReadOnlySet<Guid> Kept { get; init; } = new HashSet<Guid>();

    /// <summary>The same by the ids of the ledger, where a sender learns no id of the bus.</summary>
    public IReadOnlySet<string> KeptByName { get; init; } = new HashSet<string>();

    /// <summary>The terminal states that the audit shows of each message at this endpoint, each kind once; null where the audit is not
    /// looked at.</summary>
    public ILookup<Guid, string>? TerminalStates { get; init; }

    /// <summary>Copies that the bus flagged as duplicates.</summary>
    public int FlaggedDuplicates { get; init; }

    /// <summary>Copies that were made on purpose, each of which must be flagged.</summary>
    public int ForcedDuplicates { get; init; }

    /// <summary>Messages still in the queues of the endpoint when the wait was over; null where the queues are not looked at.</summary>
    public int? Waiting { get; init; }
}
