using Esb.Core.Activities;

namespace Esb.Storage.TakeOver;

/// <summary>What facts say of activities, as release 0.1 wrote it to a segment.</summary>
internal sealed record EarlierProgress(IReadOnlyList<ActivityProgress> Items);
