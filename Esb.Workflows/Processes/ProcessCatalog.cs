using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes;

/// <summary>The compiled processes of a configuration.</summary>
internal sealed class ProcessCatalog : IProcessCatalog, IConfigurationCheck
{
    private readonly ConfigErrors _errors = new();
    private readonly Dictionary<string, IMessageProcess> _processes = [];

    public ProcessCatalog(EsbConfiguration configuration, IEnumerable<IStepFactory> factories, IExpressionCompiler expressions)
    {
        var byKind = factories.ToDictionary(factory => factory.Kind);
        var processes = configuration.Named<IReadOnlyList<StepConfig>>("processes");
        var needs = new TopicNeeds(processes);
        foreach (var (name, steps) in processes)
        {
            if (new StepCompiler(name, byKind, expressions, _errors).Compile(steps) is { } compiled)
                _processes[name] = new MessageProcess(name, compiled, needs.Of(name));
        }
    }

    public IReadOnlyCollection<IMessageProcess> All => _processes.Values;

    public IMessageProcess Find(string name) => _processes[name];

    public void Check(ConfigErrors errors)
    {
        errors.AddAll(_errors);
    }
}
