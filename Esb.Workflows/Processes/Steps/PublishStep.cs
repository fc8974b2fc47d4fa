using Esb.Core.Configuration.Settings;
using Esb.Core.Processes;
using Esb.Core.Topics;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Settings of the step <c>publish</c>.</summary>
internal sealed record PublishConfig : SettingsRecord, IPublishes
{
    [Setting("The subject to publish under.", Main = true)]
    public required Subject Subject { get; init; }
}

/// <summary>Publishes the message to a topic and goes on once it is confirmed (pattern: Publish-Subscribe Channel).</summary>
internal sealed class PublishStep(ITopicPublisher publisher) : StepFactory<PublishConfig>
{
    public override string Kind => "publish";

    protected override CompiledStep Compile(PublishConfig settings, StepConfig step, IStepCompiler compiler)
    {
        var place = step.Id ?? step.Path;
        return new CompiledStep(
            (context, cancellationToken) => publisher.PublishAsync(context, settings.Subject, place, cancellationToken),
            $"publish({settings.Subject})");
    }
}
