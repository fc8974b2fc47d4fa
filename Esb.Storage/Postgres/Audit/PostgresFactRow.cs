using System.Buffers;
using Esb.Core.Audit;
using Esb.Storage.Evidence;

namespace Esb.Storage.Postgres.Audit;

/// <summary>A row of <c>audit_event</c> that is about to be written: one fact, or several that <see cref="PostgresFactGroups"/> put
/// together. Its key, time, kind and link are those of the last, its number is that of the first.</summary>
/// <param name="Facts">The facts, in the order of their ids, with consecutive places.</param>
internal sealed record PostgresFactRow(IReadOnlyList<ChainedFact> Facts)
{
    public ChainedFact Last => Facts[^1];

    public AuditFact Fact => Last.Sealed.Fact;

    /// <summary>The fact, if it is alone: what only one fact can have has a column of its own then, and is in <see cref="Parts"/>
    /// otherwise.</summary>
    public ChainedFact? Single => Facts.Count == 1 ? Facts[0] : null;

    /// <summary>When the first of the facts happened.</summary>
    public DateTimeOffset Began => Facts[0].Sealed.Fact.Time;

    /// <summary>True if a fact has a body.</summary>
    public bool HasBody => Facts.Any(fact => fact.Sealed.Body is not null);

    /// <summary>True to leave the bodies out: they are erased. Their digests stay.</summary>
    public bool IsErased { get; init; }

    /// <summary>The fields of all facts: searches find the row by each.</summary>
    public IReadOnlyDictionary<string, string> Fields { get; } =
        Facts.Count == 1 ? Facts[0].Sealed.Fact.Fields : PostgresFactGroups.FieldsOf(Facts.Select(fact => fact.Sealed.Fact));

    /// <summary>The bodies, packed; several follow one another.</summary>
    public ReadOnlyMemory<byte>? Body
    {
        get
        {
            if (IsErased || !HasBody)
                return null;
            if (Single is { } single)
                return single.Sealed.Body!.Value.Bytes;
            var bodies = new ArrayBufferWriter<byte>();
            foreach (var fact in Facts)
                bodies.Write(fact.Sealed.Body is { } body ? body.Bytes.Span : []);
            return bodies.WrittenMemory;
        }
    }

    /// <summary>What each of several facts has of its own; null where there is one.</summary>
    public byte[]? Parts => Facts.Count == 1 ? null : PostgresParts.Write(this);

    public static IReadOnlyList<PostgresFactRow> Alone(IEnumerable<ChainedFact> facts) =>
        [.. facts.Select(fact => new PostgresFactRow([fact]))];
}
