using Esb.Core.Configuration.Settings;
using Esb.Core.Errors;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows.Processes.Steps.Taps;

/// <summary>Settings of the step <c>wireTap</c>.</summary>
internal sealed record WireTapConfig : SettingsRecord
{
    [Setting("The subject to publish the copies under.", Main = true)]
    public required Subject Subject { get; init; }

    [Setting("Copies that may be on their way at once on a host.", Range = "1..10000")]
    public int MaximumPending { get; init; } = 1_000;
}

/// <summary>Publishes a copy of the message under an id of its own, without waiting for it (pattern: Wire Tap).</summary>
/// <remarks>The copy shares the body. Delivery is best effort: a copy that the topic rejects is counted and logged, and does not affect the
/// message.</remarks>
internal sealed class WireTapStep : StepFactory<WireTapConfig>
{
    public override string Kind => "wireTap";

    protected override StepModel Compile(WireTapConfig settings, StepConfig step, IStepCompiler compiler)
    {
        return new StepModel(step, $"wireTap({settings.Subject})")
        {
            Traits = new StepTraits
            {
                Publishes = [settings.Subject],
                HandsToTopics = false,
                LeavesFacts = true,
            },
            Bind = services =>
                Run(services.GetRequiredService<ITopicPublisher>(), services.GetRequiredService<WireTaps>().Add(step.Place, settings)),
        };

        MessageStep Run(ITopicPublisher publisher, WireTap tap) =>
            async (context, cancellationToken) =>
            {
                try
                {
                    tap.Send(await publisher.CopyAsync(context, settings.Subject, step.Place, cancellationToken));
                }
                catch (EsbException ex)
                {
                    tap.Lose(ex.Code, ex); // for example a missing key for that topic
                }
            };
    }
}
