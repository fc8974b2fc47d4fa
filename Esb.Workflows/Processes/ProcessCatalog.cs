using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Workflows.Processes.Endings;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows.Processes;

/// <summary>The processes of a revision, each bound on first use.</summary>
/// <param name="processes">The compiled processes.</param>
/// <param name="services">The services of the steps.</param>
internal sealed class ProcessCatalog(ProcessModels processes, IServiceProvider services) : IProcessCatalog
{
    // Binding a process binds the processes that it runs; the compile phase has rejected circles.
    private readonly Dictionary<string, Lazy<MessageProcess>> _processes = processes.All.ToDictionary(
        process => process.Name,
        process => new Lazy<MessageProcess>(() =>
            new MessageProcess(process, process.Steps.Bind(services), EndingsOf(process, processes, services))
        )
    );

    private static ProcessEndings? EndingsOf(ProcessModel process, ProcessModels processes, IServiceProvider services)
    {
        var traits = processes.Reached(process.Steps.Steps).Select(step => step.Traits).ToList();
        string[] names = [.. traits.SelectMany(step => step.Values).SelectMany(StateNames.Of).Distinct()];
        return names.Length > 0 || traits.Any(step => step.AwaitsEnd || step.ChangesState.Count > 0)
            ? new ProcessEndings(names, services.GetRequiredService<IEndpointMarks>())
            : null;
    }

    public IMessageProcess Find(string name) => _processes[name].Value;
}
