using Esb.Content.Lookups;
using Esb.Core.Configuration;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Core.Storage;

namespace Esb.Workflows.Processes;

/// <summary>Reads the entries of databases that the values of a step look up, before it runs. Immutable and thread-safe.</summary>
internal sealed class LookupPrefetch
{
    private readonly IReadOnlyList<(SqlLookup Lookup, IMessageValue Key)> _entries;

    private LookupPrefetch(IReadOnlyList<(SqlLookup, IMessageValue)> entries) => _entries = entries;

    /// <summary>What a step needs; null if it needs nothing of a database.</summary>
    public static LookupPrefetch? Of(StepModel step, LookupModels lookups, IExpressionCompiler expressions, ConfigErrors errors)
    {
        var entries = new List<(SqlLookup, IMessageValue)>();
        foreach (var value in step.Traits.Values)
            Add(value);
        return entries.Count == 0 ? null : new LookupPrefetch(entries);

        void Add(IValueSource value)
        {
            if (value is not { Lookup: { } name, Key: { } key })
                return;
            Add(key); // the key may be looked up itself
            if (lookups.Find(name) is SqlLookup lookup && expressions.Compile(key, errors) is { } compiled)
                entries.Add((lookup, compiled));
        }
    }

    /// <summary>The step, behind what it needs.</summary>
    public MessageStep Before(MessageStep run, ILookupQueries queries) =>
        async (context, cancellationToken) =>
        {
            foreach (var (lookup, key) in _entries)
            {
                if (MessageValues.AsText(key.Evaluate(context)) is { } text)
                    await lookup.LoadAsync(text, queries, cancellationToken);
            }

            await run(context, cancellationToken);
        };
}
