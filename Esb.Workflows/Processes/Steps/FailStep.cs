using Esb.Core.Configuration.Settings;
using Esb.Core.Errors;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Settings of the step <c>fail</c>.</summary>
internal sealed record FailConfig : SettingsRecord
{
    [Setting("The reason, as the sender sees it.", Main = true)]
    public required string Reason { get; init; }

    [Setting("The status code that an HTTP caller gets.", Range = "400..599")]
    public int Status { get; init; } = 422;

    [Setting("The code that callers and catch branches see.")]
    public string Code { get; init; } = "ESB-PROC-REFUSED";
}

/// <summary>Fails the process deliberately.</summary>
internal sealed class FailStep : StepFactory<FailConfig>
{
    public override string Kind => "fail";

    protected override StepModel Compile(FailConfig settings, StepConfig step, IStepCompiler compiler)
    {
        var kind = settings.Status < 500 ? FaultKind.Invalid : FaultKind.Internal;
        return new StepModel(step, $"fail({settings.Status})")
        {
            Traits = new StepTraits { FailsWith = [settings.Code] },
            Bind = _ => (_, _) =>
                ValueTask.FromException(new EsbException(settings.Code, settings.Reason, kind) { Status = settings.Status }),
        };
    }
}
