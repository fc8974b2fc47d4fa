using Esb.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Topics;
using Esb.Host;
using Esb.Host.Composition;
using Esb.Topics.Farm;
using Microsoft.Extensions.DependencyInjection;
using NSubstitute;

namespace Esb.Tests.Topics;

public sealed class TransportRegistrationTests
{
    private DirectoryInfo _folder = null!;

    [SetUp]
    public void MakeFolder() => _folder = Directory.CreateTempSubdirectory("esb-transport-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [Test]
    public async Task Transport_that_somebody_registers_is_chosen_by_its_name_with_its_settings()
    {
        var transport = Substitute.For<IBusTransport>();
        transport.Farm.Returns((IFarm?)null);
        PigeonConfig? found = null;
        var registered = new ServiceCollection()
            .AddEsb()
            .AddTransport<PigeonConfig>(
                "pigeon",
                "By air.",
                (_, config) =>
                {
                    found = config;
                    return transport;
                }
            );
        var file = Path.Combine(_folder.FullName, "esb.json");
        await File.WriteAllTextAsync(file, """{ "transport": { "type": "pigeon", "loft": "roof" } }""");

        await using var services = BusServices.Build(file, new Dictionary<string, string>(), registered);

        Assert.That(services.GetRequiredService<ITopicTransport>(), Is.SameAs(transport));
        Assert.That(services.GetRequiredService<IEndpointQueues>(), Is.SameAs(transport));
        Assert.That(services.GetRequiredService<IUnroutableMessages>(), Is.SameAs(transport.Unroutable));
        Assert.That(services.GetRequiredService<IFarm>(), Is.InstanceOf<LoneFarm>(), "it reaches no other host");
        Assert.That(found?.Loft, Is.EqualTo("roof"));
    }

    private sealed record PigeonConfig : TransportConfig
    {
        [Setting("Where they live.")]
        public required string Loft { get; init; }
    }
}
