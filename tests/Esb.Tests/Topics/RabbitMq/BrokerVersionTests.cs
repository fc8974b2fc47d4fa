using Esb.Topics.RabbitMq.Connections;

namespace Esb.Tests.Topics.RabbitMq;

/// <summary>Brokers that are too old, or of no known version, are refused.</summary>
[Property("Case", "CFG-35")]
public sealed class BrokerVersionTests
{
    [TestCase("3.10.0", true)]
    [TestCase("3.10.8", true)]
    [TestCase("4.1.0-rc.1", true)]
    [TestCase("4.0.5+build.7", true)]
    [TestCase("3.9.29", false)]
    [TestCase("2.8.7", false)]
    [TestCase("new", false)]
    [TestCase("", false)]
    [TestCase(null, false)]
    public void Broker_of_release_3_10_or_later_is_supported(string? version, bool isSupported) =>
        Assert.That(BrokerVersion.IsSupported(version), Is.EqualTo(isSupported));
}
