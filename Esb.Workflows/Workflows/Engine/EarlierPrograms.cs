using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Workflows;
using Esb.Workflows.Workflows.Compiling;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Workflows.Engine;

/// <summary>Compiles the definitions with which living instances began beside those of the running revision: those of revisions before, and
/// those that only another host has. Thread-safe.</summary>
internal sealed partial class EarlierPrograms(
    WorkflowPrograms programs,
    IWorkflowStore store,
    Live<WorkflowModels> models,
    TimeProvider time,
    ILogger<EarlierPrograms> logger,
    IPinnedDefinitions? definitions = null
) : IDisposable
{
    // How long another host's definition may stay unknown here.
    private static readonly TimeSpan Age = TimeSpan.FromMilliseconds(200);

    // Running hosts say every ten minutes with which definitions they start instances.
    private static readonly TimeSpan InUse = TimeSpan.FromDays(1);

    private readonly Lock _compiling = new();
    private readonly Dictionary<string, WorkflowModels> _refused = []; // under the lock; by hash, with the revision on which it failed
    private readonly SemaphoreSlim _learning = new(1, 1);
    private long? _learnedAt;

    /// <summary>The program of a definition; null if it does not compile on the running revision, or that has no such workflow.</summary>
    public async ValueTask<BoundProgram?> FindAsync(string workflow, string hash, CancellationToken cancellationToken)
    {
        if (programs.Find(workflow, hash) is { } program)
            return program;
        if (IsRefused(hash) || await store.FindDefinitionAsync(hash, cancellationToken) is not { } definition)
            return null;
        return TryCompile(definition) ? programs.Find(workflow, hash) : null;
    }

    /// <summary>Compiles the definitions with which other hosts start instances. Instances of a newer revision may wait for messages that
    /// this host takes from the shared queue.</summary>
    /// <exception cref="EsbException">The store is away.</exception>
    public async ValueTask LearnAsync(CancellationToken cancellationToken)
    {
        await _learning.WaitAsync(cancellationToken);
        try
        {
            if (_learnedAt is { } at && time.GetElapsedTime(at) < Age)
                return;
            var now = time.GetTimestamp();
            foreach (var definition in await store.UsedDefinitionsAsync(InUse, programs.Hashes, cancellationToken))
            {
                if (!IsRefused(definition.Hash))
                    TryCompile(definition);
            }

            _learnedAt = now;
        }
        finally
        {
            _learning.Release();
        }
    }

    public void Dispose() => _learning.Dispose();

    /// <summary>Makes the program of a definition available, whatever revision goes.</summary>
    /// <returns>False if that is not possible.</returns>
    public bool TryCompile(StoredDefinition definition)
    {
        lock (_compiling)
        {
            var current = models.Current;
            if (current.Find(definition.Workflow) is null)
                return false;
            if (programs.Has(definition))
                return true;
            if (definitions is null)
                return false;
            try
            {
                var catalog = definitions.Open(definition).GetRequiredService<WorkflowCatalog>();
                if (catalog.FindKept(definition.Workflow, definition.Hash) is { } program)
                    programs.Keep(program);
                LogRevived(definition.Workflow, definition.Hash[..12]);
                return true;
            }
            catch (EsbException ex)
            {
                programs.Drop(definition);
                _refused[definition.Hash] = current;
                LogNotRevived(definition.Workflow, definition.Hash[..12], ex.Message);
                return false;
            }
        }
    }

    private bool IsRefused(string hash)
    {
        lock (_compiling)
            return ReferenceEquals(_refused.GetValueOrDefault(hash), models.Current);
    }

    [LoggerMessage(
        EventId = 3034,
        Level = LogLevel.Information,
        Message = "Instances of workflow {Workflow} end on their earlier definition {Definition}"
    )]
    private partial void LogRevived(string workflow, string definition);

    [LoggerMessage(
        EventId = 3035,
        Level = LogLevel.Error,
        Message = "Instances of workflow {Workflow} with the definition {Definition} cannot continue: {Reason}"
    )]
    private partial void LogNotRevived(string workflow, string definition, string reason);
}
