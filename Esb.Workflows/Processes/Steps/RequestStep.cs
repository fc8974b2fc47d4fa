using Esb.Core.Configuration.Settings;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Esb.Workflows.Workflows.Compiling;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Settings of the step <c>request</c>.</summary>
internal sealed record RequestConfig : SettingsRecord
{
    [Setting("The subject to publish the request under; exactly one endpoint answers it.", Main = true)]
    public required Subject Subject { get; init; }

    [Setting("How long to wait for the reply; in a process at most 1h.", Range = "1ms..20d")]
    public TimeSpan Timeout { get; init; } = TimeSpan.FromSeconds(60);
}

/// <summary>Publishes the message as a request and continues with the reply (pattern: Request-Reply): a process waits for it in memory, a
/// workflow in the store.</summary>
internal sealed class RequestStep : StepFactory<RequestConfig>
{
    /// <summary>The longest wait in memory.</summary>
    public static readonly TimeSpan LongestInMemory = TimeSpan.FromHours(1);

    public override string Kind => "request";

    protected override StepModel Compile(RequestConfig settings, StepConfig step, IStepCompiler compiler)
    {
        if (!compiler.IsWorkflow && settings.Timeout > LongestInMemory)
            compiler.Errors.Add("ESB-CFG-RANGE", settings, "timeout", "expected 1ms..1h in a process, which waits in memory");
        return new StepModel(step, $"request({settings.Subject})")
        {
            Flow = compiler.IsWorkflow ? new RequestFlow(settings.Subject, settings.Timeout) : null,
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
}
