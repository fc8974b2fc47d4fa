using System.Collections.Concurrent;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Workflows;

namespace Esb.Workflows.Workflows.Engine;

/// <summary>Programs by workflow and definition: the one that starts instances, and those with which living instances began.
/// Thread-safe.</summary>
internal sealed class WorkflowPrograms(Live<WorkflowCatalog> catalog)
{
    private readonly ConcurrentDictionary<string, BoundProgram> _earlier = new();

    /// <summary>The names of the workflows that start instances.</summary>
    public IEnumerable<string> Names => catalog.Current.Names;

    /// <summary>The definitions whose programs are available.</summary>
    public IReadOnlyCollection<string> Hashes => [.. Names.Select(Current).Select(program => program.Hash), .. _earlier.Keys];

    /// <summary>The program that starts instances.</summary>
    /// <exception cref="EsbException"><c>ESB-WFL-UNKNOWN</c>.</exception>
    public BoundProgram Current(string workflow) =>
        Find(workflow) ?? throw new EsbException("ESB-WFL-UNKNOWN", $"There is no workflow '{workflow}'.", FaultKind.Invalid);

    /// <summary>The program that starts instances; null if there is none.</summary>
    public BoundProgram? Find(string workflow)
    {
        var program = catalog.Current.Find(workflow);
        if (program is not null)
            _earlier.TryAdd(program.Hash, program);
        return program;
    }

    /// <summary>The program of a definition; null if it is not available.</summary>
    public BoundProgram? Find(string workflow, string definition) =>
        Find(workflow) is { } current && current.Hash == definition ? current : _earlier.GetValueOrDefault(definition);

    /// <summary>Keeps the program of a definition with living instances.</summary>
    public void Keep(BoundProgram program) => _earlier[program.Hash] = program;

    /// <summary>Gives up the program of a definition that does not compile any more; its instances are suspended when they are next
    /// touched.</summary>
    public void Drop(StoredDefinition definition) => _earlier.TryRemove(definition.Hash, out _);

    /// <summary>True if the program of a definition is available, and stays so whatever revision goes.</summary>
    public bool Has(StoredDefinition definition) =>
        (Find(definition.Workflow) is { } current && current.Hash == definition.Hash)
        || _earlier.GetValueOrDefault(definition.Hash) is { IsKept: true };

    /// <summary>The programs of a workflow for which messages may come.</summary>
    public IReadOnlyList<BoundProgram> Living(string workflow)
    {
        Find(workflow);
        return [.. _earlier.Values.Where(program => program.Model.Name == workflow)];
    }
}
