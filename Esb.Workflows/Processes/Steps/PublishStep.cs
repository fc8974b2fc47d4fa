using Esb.Core.Configuration.Settings;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Esb.Workflows.Processes.Checks;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Settings of the step <c>publish</c>.</summary>
internal sealed record PublishConfig : SettingsRecord
{
    [Setting("The subject to publish under.", Main = true)]
    public required Subject Subject { get; init; }
}

/// <summary>Publishes the message to a topic; the process continues after the confirm (pattern: Publish-Subscribe Channel).</summary>
internal sealed class PublishStep(StreamedTopics topics) : StepFactory<PublishConfig>
{
    public override string Kind => "publish";

    protected override StepModel Compile(PublishConfig settings, StepConfig step, IStepCompiler compiler) =>
        new(step, $"publish({settings.Subject})")
        {
            Traits = new StepTraits
            {
                Publishes = [settings.Subject],
                LeavesFacts = true,
                Streams = topics.ObstacleOf(settings.Subject) is null,
            },
            Bind = services =>
            {
                var publisher = services.GetRequiredService<ITopicPublisher>();
                return (context, cancellationToken) => publisher.PublishAsync(context, settings.Subject, step.Place, cancellationToken);
            },
        };
}
