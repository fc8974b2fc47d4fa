using Esb.Core.Configuration.Settings;
using Esb.Core.Errors;
using Esb.Core.Expressions;
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

    [Setting(
        "What a caller of SOAP finds in the detail of the fault: a text that is an XML element, or any other text. Others do not get it."
    )]
    public ValueConfig? Detail { get; init; }
}

/// <summary>Fails the process deliberately.</summary>
internal sealed class FailStep : StepFactory<FailConfig>
{
    public override string Kind => "fail";

    protected override StepModel Compile(FailConfig settings, StepConfig step, IStepCompiler compiler)
    {
        var kind = settings.Status < 500 ? FaultKind.Invalid : FaultKind.Internal;
        var detail = settings.Detail is { } configured ? compiler.Expressions.Compile(configured, compiler.Errors) : null;
        return new StepModel(step, $"fail({settings.Status})")
        {
            Traits = new StepTraits
            {
                Streams = true,
                FailsWith = [settings.Code],
                Values = settings.Detail is { } value ? [value] : [],
            },
            Bind =
                settings.Detail is not null && detail is null
                    ? null
                    : _ =>
                        (context, _) =>
                            ValueTask.FromException(
                                new EsbException(settings.Code, settings.Reason, kind)
                                {
                                    Status = settings.Status,
                                    CallerDetail = MessageValues.AsText(detail?.Evaluate(context)),
                                }
                            ),
        };
    }
}
