using Esb.Core.Configuration.Settings;
using Esb.Core.Storage;
using Esb.Host;
using Esb.Host.Composition;
using Esb.Storage;
using Esb.Storage.Files;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Tests.Storage;

/// <summary>A kind of store is its settings and a factory, registered in one line; hosts and commands find it by its name.</summary>
[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class StoreFactoryTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-stores-");

    public void Dispose() => _folder.Delete(recursive: true);

    [Test, CancelAfter(30_000)]
    public async Task Kind_that_is_registered_beside_the_others_is_used_by_hosts_and_commands(CancellationToken cancellationToken)
    {
        var file = Path.Combine(_folder.FullName, "esb.json");
        await File.WriteAllTextAsync(file, """{ "store": { "type": "shelf", "board": "kept" } }""", cancellationToken);

        await using var bus = BusServices.Build(file, new Dictionary<string, string>(), Services());
        var store = bus.GetRequiredService<Store>();
        await store.StartAsync(cancellationToken);
        await store.DeadLetters.AddAsync(
            new DeadLetter(Some.Message(), "shop", "ESB-HTTP-STATUS", "No.", null, 1, default, default),
            cancellationToken
        );
        await using var reader = BusServices.FindStore(file, new Dictionary<string, string>(), Services()).Read();
        var kept = await reader.DeadLetters.FindAsync(new DeadLetterQuery(), cancellationToken).CountAsync(cancellationToken);

        Assert.That(bus.GetRequiredService<IDeadLetterStore>(), Is.SameAs(store.DeadLetters));
        Assert.That(File.Exists(Path.Combine(_folder.FullName, "kept", "store.db")), "the factory got its own settings");
        Assert.That(kept, Is.EqualTo(1));
    }

    private static IServiceCollection Services() =>
        new ServiceCollection()
            .AddEsb()
            .AddStore<ShelfConfig>(
                "shelf",
                "On a shelf.",
                (provider, config) =>
                    new FileStore(
                        FilesOf(config),
                        provider.GetRequiredService<TimeProvider>(),
                        provider.GetRequiredService<ILogger<FileStore>>()
                    ),
                (config, reading, logger) => StoreReader.Open(FilesOf(config), logger, reading.Configuration)
            );

    private static FileStoreConfig FilesOf(ShelfConfig config) => new() { Folder = config.Board };

    private sealed record ShelfConfig : StoreConfig
    {
        [Setting("The board.", IsPath = true)]
        public required string Board { get; init; }
    }
}
