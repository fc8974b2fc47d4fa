using Esb.Core.Endpoints;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Steps.Deduplication;

/// <summary>Lets each message pass once.</summary>
internal sealed class DedupeStep : StepFactory<DedupeConfig>
{
    public override string Kind => "dedupe";

    protected override StepModel Compile(DedupeConfig settings, StepConfig step, IStepCompiler compiler)
    {
        var key = compiler.Expressions.Compile(settings.Key, compiler.Errors);
        if (compiler.IsWorkflow)
            compiler.Errors.Add("ESB-CFG-VALUE", step.Path, "only a process waits for its end; a workflow has correlation", step.Origin);
        return new StepModel(step, "dedupe")
        {
            Traits = new StepTraits
            {
                Streams = true,
                MayEnd = true,
                Values = [settings.Key],
                AwaitsEnd = true,
            },
            Bind = key is null ? null : services => new Deduplicator(settings, step.Place, key, services).RunAsync,
        };
    }
}
