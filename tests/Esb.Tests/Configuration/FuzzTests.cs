using System.Diagnostics;
using System.Text;
using Esb.Core.Configuration;

namespace Esb.Tests.Configuration;

public sealed class FuzzTests : ConfigurationFixture
{
    private const int Seed = 20261121;
    private const int Rounds = 1_000;

    private static readonly string[] Pieces = ["{", "}", "[", "]", ",", ":", "\"", "\\u", "\\ud800", "null", "1e999", "-", "${", "${env:", "${file:", "//", "/*", "\0", "\u00e9", "\"type\":", "\"id\":"];

    [Test, CancelAfter(30_000)]
    public void Broken_bytes_give_errors_and_never_an_exception_in_under_two_seconds()
    {
        var original = File.ReadAllBytes(Path.Combine(SampleTests.Sample("orders"), "esb.json"));
        var random = new Random(Seed);
        var variables = new Dictionary<string, string> { ["ESB__ENDPOINTS__WAREHOUSE__POOLSIZE"] = "3", ["ESB__PROCESSES__RECEIVE_ORDER__1__VALIDATE"] = "order" };
        var reader = new ConfigurationReader(Catalog);
        var (slowest, refused) = (TimeSpan.Zero, 0);

        for (var round = 0; round < Rounds; round++)
        {
            var path = Write("esb.json", Mutate(original, random));
            var errors = new ConfigErrors();
            var started = Stopwatch.GetTimestamp();

            var configuration = reader.Read(path, variables, errors);

            var elapsed = Stopwatch.GetElapsedTime(started);
            if (elapsed > slowest) slowest = elapsed;
            if (configuration is null) refused++;
            Assert.That(configuration is null, Is.EqualTo(errors.Any), $"round {round}: refused without an error, or accepted with one");
        }

        Assert.That(refused, Is.GreaterThan(Rounds / 2));
        Assert.That(slowest, Is.LessThan(TimeSpan.FromSeconds(2)));
    }

    private static byte[] Mutate(byte[] original, Random random)
    {
        var bytes = original.ToList();
        for (var count = random.Next(1, 5); count > 0; count--)
        {
            var at = random.Next(bytes.Count);
            switch (random.Next(4))
            {
                case 0: bytes.RemoveRange(at, Math.Min(random.Next(1, 20), bytes.Count - at)); break;
                case 1: bytes[at] = (byte)random.Next(256); break;
                case 2: bytes[at] = (byte)random.Next(' ', '~'); break;
                default: bytes.InsertRange(at, Encoding.UTF8.GetBytes(Pieces[random.Next(Pieces.Length)])); break;
            }
        }

        return [.. bytes];
    }
}
