using Esb.Core.Processes;

namespace Esb.Workflows.Processes;

/// <summary>The processes of a revision, each put into service when it is first asked for.</summary>
/// <param name="processes">What was compiled.</param>
/// <param name="services">What their steps run on.</param>
internal sealed class ProcessCatalog(ProcessModels processes, IServiceProvider services) : IProcessCatalog
{
    // A process asks for those that it runs while it is put into service; the compile phase refused circles.
    private readonly Dictionary<string, Lazy<MessageProcess>> _processes = processes.All.ToDictionary(
        process => process.Name,
        process => new Lazy<MessageProcess>(() => new MessageProcess(process, process.Steps.Bind(services))));

    public IMessageProcess Find(string name) => _processes[name].Value;
}
