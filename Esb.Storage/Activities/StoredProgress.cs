using Esb.Core.Activities;

namespace Esb.Storage.Activities;

/// <summary>What facts say of activities, as a record of a file holds it.</summary>
internal sealed record StoredProgress(IReadOnlyList<ActivityProgress> Items);
