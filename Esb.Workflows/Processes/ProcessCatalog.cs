using Esb.Core.Processes;

namespace Esb.Workflows.Processes;

/// <summary>The processes of a revision, each bound on first use.</summary>
/// <param name="processes">The compiled processes.</param>
/// <param name="services">The services of the steps.</param>
internal sealed class ProcessCatalog(ProcessModels processes, IServiceProvider services) : IProcessCatalog
{
    // Binding a process binds the processes that it runs; the compile phase has rejected circles.
    private readonly Dictionary<string, Lazy<MessageProcess>> _processes = processes.All.ToDictionary(
        process => process.Name,
        process => new Lazy<MessageProcess>(() => new MessageProcess(process, process.Steps.Bind(services))));

    public IMessageProcess Find(string name) => _processes[name].Value;
}
