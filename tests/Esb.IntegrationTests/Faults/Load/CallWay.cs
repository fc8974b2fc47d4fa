namespace Esb.IntegrationTests.Faults.Load;

/// <summary>A way to an outside that answers with what it gets.</summary>
/// <param name="Path">Where a host takes calls for it.</param>
/// <param name="Read">Finds what was sent in an answer.</param>
internal sealed record CallWay(string Path, Func<string, string?> Read);
