using Esb.Core.Configuration.Settings;
using Esb.Core.Processes;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Settings of the step <c>run</c>.</summary>
internal sealed record RunConfig : PooledStepConfig, ILeavesFacts
{
    [Setting("The process to run as a part of this one.", Main = true, Reference = "processes")]
    public required string Process { get; init; }
}

/// <summary>Runs another process on the message; what ends that process ends this one too.</summary>
/// <param name="processes">Found when the first message runs, because processes may be written in any order.</param>
internal sealed class RunStep(Lazy<IProcessCatalog> processes, TimeProvider time, ILoggerFactory loggers) : StepFactory<RunConfig>
{
    public override string Kind => "run";

    protected override CompiledStep Compile(RunConfig settings, StepConfig step, IStepCompiler compiler)
    {
        var slots = new StepSlots($"step {step.Id ?? step.Path}", settings, time, loggers);
        var process = new Lazy<IMessageProcess>(() => processes.Value.Find(settings.Process));
        return new CompiledStep(Run, $"run({settings.Process})");

        async ValueTask Run(MessageContext context, CancellationToken cancellationToken)
        {
            using var slot = await slots.RentAsync(cancellationToken);
            var caller = context.Process;
            try
            {
                await process.Value.RunAsync(context, cancellationToken);
            }
            finally
            {
                context.Process = caller; // what catches the failure belongs to the caller
            }
        }
    }
}
