using System.Diagnostics;

namespace Esb.KnownBad;

/// <summary>Ends the process when the broker's client reads a message of one subject, before anybody else has seen it: as a fault of the
/// client would.</summary>
internal static class DeadlyReads
{
    public static void Of(string subject) =>
        ActivitySource.AddActivityListener(
            new ActivityListener
            {
                ShouldListenTo = source => source.Name == "RabbitMQ.Client.Subscriber",
                Sample = (ref _) => ActivitySamplingResult.PropagationData,
                ActivityStarted = activity =>
                {
                    if (activity.OperationName == $"deliver {subject}")
                        Environment.FailFast("The process dies of a message that it reads.");
                },
            }
        );
}
