namespace Esb.Host.Reloading;

/// <summary>Asks a host to make a revision ready. It carries no configuration: each host reads its own files.</summary>
/// <param name="Id">Names the exchange.</param>
/// <param name="Revision">What the files must say.</param>
/// <param name="By">Who wants it.</param>
/// <param name="Migrates">Whether the host that asks moves what waits to other queues in between.</param>
internal sealed record PrepareReload(Guid Id, string Revision, string By, bool Migrates);

/// <summary>Tells hosts that are ready that the decision is still to come.</summary>
/// <param name="Id">The exchange.</param>
internal sealed record AwaitReload(Guid Id);

/// <summary>Whether a host is ready.</summary>
/// <param name="Reason">Why it is not; null where it is.</param>
internal sealed record ReloadPrepared(string? Reason);

/// <summary>What becomes of an exchange that was prepared.</summary>
/// <param name="Id">The exchange.</param>
/// <param name="Goes">Whether it is made; otherwise what was prepared is undone.</param>
internal sealed record DecideReload(Guid Id, bool Goes);

/// <summary>What a host made of the decision.</summary>
/// <param name="IsDone">Whether it runs the revision.</param>
internal sealed record ReloadDecided(bool IsDone);
