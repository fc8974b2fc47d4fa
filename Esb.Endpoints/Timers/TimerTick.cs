using System.Globalization;
using Esb.Core.Messages;
using Esb.Delivery.Polling;

namespace Esb.Endpoints.Timers;

/// <summary>A tick that is due.</summary>
/// <param name="MessageId">The id of its message.</param>
/// <param name="Due">Its due time.</param>
internal sealed record TimerTick(Guid MessageId, DateTimeOffset Due) : PolledItem(MessageId)
{
    /// <summary>The tick of an endpoint at a time. Endpoint and time determine the id: two hosts make the same message of one
    /// tick.</summary>
    public static TimerTick Of(string endpoint, DateTimeOffset due) =>
        new(MessageIds.FromForeign(string.Create(CultureInfo.InvariantCulture, $"tick {due.UtcTicks}"), endpoint), due);
}
