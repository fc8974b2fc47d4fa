using Esb.Core.Configuration.Settings;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Settings of the step <c>request</c>.</summary>
internal sealed record RequestConfig : SettingsRecord
{
    [Setting("The subject to publish the request under; exactly one endpoint answers it.", Main = true)]
    public required Subject Subject { get; init; }

    [Setting("How long to wait for the reply.", Range = "1ms..1h")]
    public TimeSpan Timeout { get; init; } = TimeSpan.FromSeconds(60);
}

/// <summary>Publishes the message as a request; the process continues with the reply (pattern: Request-Reply).</summary>
internal sealed class RequestStep : StepFactory<RequestConfig>
{
    public override string Kind => "request";

    protected override StepModel Compile(RequestConfig settings, StepConfig step, IStepCompiler compiler) =>
        new(step, $"request({settings.Subject})")
        {
            Traits = new StepTraits
            {
                Requests = [settings.Subject],
                LeavesFacts = true,
                ReplacesBody = true,
            },
            Bind = services =>
            {
                var publisher = services.GetRequiredService<ITopicPublisher>();
                return (context, cancellationToken) =>
                    publisher.RequestAsync(context, settings.Subject, settings.Timeout, step.Place, cancellationToken);
            },
        };
}
