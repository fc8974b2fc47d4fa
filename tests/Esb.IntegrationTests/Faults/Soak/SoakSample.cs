namespace Esb.IntegrationTests.Faults.Soak;

/// <summary>What a host and its store took at one moment.</summary>
/// <param name="At">Since the load began.</param>
/// <param name="Memory">Resident memory of the host, in MiB.</param>
/// <param name="Threads">Threads of the host.</param>
/// <param name="Handles">Open files, sockets and pipes of the host.</param>
/// <param name="PassingTables">Tables of the store whose rows do not stay, with their indexes, in MiB.</param>
/// <param name="Store">All tables of the store, with their indexes, in MiB.</param>
/// <param name="Sent">Messages that were accepted until then.</param>
internal sealed record SoakSample(
    TimeSpan At,
    double Memory,
    double Threads,
    double Handles,
    double PassingTables,
    double Store,
    double Sent
);
