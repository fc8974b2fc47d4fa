using System.Collections.Concurrent;
using Esb.Core.Errors;
using Esb.Core.Processes;
using Esb.Core.Workflows;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Keeps the definitions with which splits began, and has their steps, for interchanges that continue under another revision.
/// Thread-safe.</summary>
/// <param name="logger">Logs the definition that an interchange continues with.</param>
/// <param name="store">Keeps definitions.</param>
/// <param name="definitions">Compiles earlier definitions.</param>
internal sealed partial class EarlierSplits(
    ILogger<EarlierSplits> logger,
    IWorkflowStore? store = null,
    IPinnedDefinitions? definitions = null
)
{
    private readonly ConcurrentDictionary<string, IServiceProvider> _opened = new();
    private readonly ConcurrentDictionary<(string Hash, string Place), MessageStep> _steps = new();
    private readonly Lock _opening = new();

    /// <summary>Keeps a definition, before the place of an interchange that needs it is kept.</summary>
    /// <exception cref="EsbException">The store is unreachable or cannot be written.</exception>
    public Task KeepAsync(StoredDefinition definition, CancellationToken cancellationToken) =>
        store?.KeepDefinitionAsync(definition, cancellationToken) ?? Task.CompletedTask;

    /// <summary>The step of an earlier definition; null if the definition does not compile any more, so that the running revision
    /// continues.</summary>
    /// <exception cref="EsbException">The store is unreachable.</exception>
    public async ValueTask<MessageStep?> FindAsync(string hash, string place, CancellationToken cancellationToken)
    {
        if (_steps.TryGetValue((hash, place), out var known))
            return known;
        if (store is null || definitions is null || await store.FindDefinitionAsync(hash, cancellationToken) is not { } definition)
            return null;
        try
        {
            var services = Open(definition);
            var processes = services.GetRequiredService<ProcessModels>();
            var step = processes.Find(definition.Workflow) is { } process
                ? processes.Reached(process.Steps.Steps).FirstOrDefault(one => one.Kind == "split" && one.Place == place)
                : null;
            if (step?.Bind is not { } bind)
                return null;
            LogEarlier(definition.Workflow, place, hash[..12]);
            return _steps.GetOrAdd((hash, place), _ => bind(services));
        }
        catch (EsbException ex)
        {
            LogNotCompiled(definition.Workflow, place, hash[..12], ex.Message);
            return null;
        }
    }

    private IServiceProvider Open(StoredDefinition definition)
    {
        lock (_opening)
        {
            if (_opened.TryGetValue(definition.Hash, out var known))
                return known;
            var services = definitions!.Open(definition);
            services.GetRequiredService<SplitDefinitions>().Pin(definition);
            return _opened[definition.Hash] = services;
        }
    }

    [LoggerMessage(
        EventId = 3065,
        Level = LogLevel.Information,
        Message = "Interchanges of process {Process} continue at {Step} with the definition {Definition}, with which they began"
    )]
    private partial void LogEarlier(string process, string step, string definition);

    [LoggerMessage(
        EventId = 3066,
        Level = LogLevel.Warning,
        Message = "Interchanges of process {Process} continue at {Step} with the running configuration, because the definition "
            + "{Definition} with which they began does not compile any more: {Reason}"
    )]
    private partial void LogNotCompiled(string process, string step, string definition, string reason);
}
