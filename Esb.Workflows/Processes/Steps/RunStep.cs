using Esb.Core.Configuration.Settings;
using Esb.Core.Processes;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Settings of the step <c>run</c>.</summary>
internal sealed record RunConfig : PooledStepConfig
{
    [Setting("The process to run as a part of this one.", Main = true, Reference = "processes")]
    public required string Process { get; init; }
}

/// <summary>Runs another process on the message; a step that ends that process also ends this one.</summary>
internal sealed class RunStep : StepFactory<RunConfig>
{
    public override string Kind => "run";

    protected override StepModel Compile(RunConfig settings, StepConfig step, IStepCompiler compiler)
    {
        return new StepModel(step, $"run({settings.Process})")
        {
            Traits = new StepTraits
            {
                Runs = [settings.Process],
                LeavesFacts = true,
                ReplacesBody = true,
            },
            Bind = services =>
                Run(
                    services.GetRequiredService<IProcessCatalog>().Find(settings.Process),
                    new StepSlots($"step {step.Place}", settings, services)
                ),
        };

        static MessageStep Run(IMessageProcess process, StepSlots slots) =>
            async (context, cancellationToken) =>
            {
                using var slot = await slots.RentAsync(cancellationToken);
                var caller = context.Process;
                try
                {
                    await process.RunAsync(context, cancellationToken);
                }
                finally
                {
                    context.Process = caller; // a catch branch that handles the failure belongs to the caller
                }
            };
    }
}
