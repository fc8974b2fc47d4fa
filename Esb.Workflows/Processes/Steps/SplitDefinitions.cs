using System.Collections.Concurrent;
using Esb.Configuration.Compiling;
using Esb.Core.Workflows;
using Esb.Workflows.Workflows.Compiling;

namespace Esb.Workflows.Processes.Steps;

/// <summary>The definitions with which splits of a revision begin: their process with what it runs by. Thread-safe.</summary>
/// <param name="pinned">Collects what a process runs by.</param>
internal sealed class SplitDefinitions(PinnedContent pinned)
{
    private readonly ConcurrentDictionary<string, StoredDefinition?> _definitions = new();
    private StoredDefinition? _only;

    /// <summary>The definition of a process; null if the configuration does not write it under this name.</summary>
    public StoredDefinition? Of(string process) =>
        _only
        ?? _definitions.GetOrAdd(
            process,
            name => pinned.OfProcess(name) is { } content ? new StoredDefinition(Fingerprint.Of([content]), name, content) : null
        );

    /// <summary>Makes this the revision of an earlier definition, which runs nothing else.</summary>
    public void Pin(StoredDefinition definition) => _only = definition;
}
