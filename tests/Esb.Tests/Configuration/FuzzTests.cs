using System.Diagnostics;
using Esb.Configuration;
using Esb.Core.Configuration;

namespace Esb.Tests.Configuration;

public sealed class FuzzTests : ConfigurationFixture
{
    private const int Seed = 20261121;
    private const int Rounds = 1_000;

    [Test, CancelAfter(30_000)]
    public void Broken_bytes_give_errors_and_never_an_exception_in_under_two_seconds()
    {
        var original = File.ReadAllBytes(Path.Combine(SampleTests.Sample("orders"), "esb.json"));
        var mutations = new Mutations(Seed);
        var variables = new Dictionary<string, string>
        {
            ["ESB__ENDPOINTS__WAREHOUSE__POOLSIZE"] = "3",
            ["ESB__PROCESSES__RECEIVE_ORDER__1__VALIDATE"] = "order",
        };
        var reader = new ConfigurationReader(Catalog);
        var (slowest, refused) = (TimeSpan.Zero, 0);

        for (var round = 0; round < Rounds; round++)
        {
            var path = Write("esb.json", mutations.OfBytes(original));
            var errors = new ConfigErrors();
            var started = Stopwatch.GetTimestamp();

            var configuration = reader.Read(path, variables, errors);

            var elapsed = Stopwatch.GetElapsedTime(started);
            if (elapsed > slowest)
                slowest = elapsed;
            if (configuration is null)
                refused++;
            Assert.That(configuration is null, Is.EqualTo(errors.Any), $"round {round}: refused without an error, or accepted with one");
        }

        Assert.That(refused, Is.GreaterThan(Rounds / 2));
        Assert.That(slowest, Is.LessThan(TimeSpan.FromSeconds(2)));
    }
}
