using System.Runtime.CompilerServices;
using Esb.Core.Endpoints;

namespace Esb.Tests.Configuration;

public sealed class SampleTests : ConfigurationFixture
{
    [Test]
    public void The_orders_sample_is_read_as_it_is()
    {
        var configuration = AcceptPath(Sample("orders"));

        Assert.Multiple(() =>
        {
            Assert.That(configuration.Name, Is.EqualTo("orders"));
            Assert.That(
                configuration.Named<EndpointConfig>("endpoints").Keys,
                Is.EqualTo(["shop", "drop-box", "opening-hours", "warehouse", "ledger", "review"])
            );
            Assert.That(
                configuration.Named<EndpointConfig>("endpoints")["warehouse"],
                Is.InstanceOf<FileOutConfig>().With.Property("PoolSize").EqualTo(20)
            );
        });
    }

    public static string Sample(string name, [CallerFilePath] string here = "") =>
        Path.GetFullPath($"../../../samples/{name}", Path.GetDirectoryName(here)!);
}
