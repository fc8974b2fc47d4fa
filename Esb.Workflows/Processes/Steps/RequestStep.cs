using Esb.Core.Configuration.Settings;
using Esb.Core.Processes;
using Esb.Core.Topics;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Settings of the step <c>request</c>.</summary>
internal sealed record RequestConfig : SettingsRecord, IPublishes
{
    [Setting("The subject to publish the request under; exactly one endpoint answers it.", Main = true)]
    public required Subject Subject { get; init; }

    [Setting("How long to wait for the reply.", Range = "1ms..1h")]
    public TimeSpan Timeout { get; init; } = TimeSpan.FromSeconds(60);
}

/// <summary>Publishes the message as a request and goes on with the reply (pattern: Request-Reply).</summary>
internal sealed class RequestStep(ITopicPublisher publisher) : StepFactory<RequestConfig>
{
    public override string Kind => "request";

    protected override CompiledStep Compile(RequestConfig settings, StepConfig step, IStepCompiler compiler)
    {
        var place = step.Id ?? step.Path;
        return new CompiledStep(
            (context, cancellationToken) => publisher.RequestAsync(context, settings.Subject, settings.Timeout, place, cancellationToken),
            $"request({settings.Subject})");
    }
}
