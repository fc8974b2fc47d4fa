using System.Diagnostics;
using System.Globalization;

namespace Esb.Tests.Fuzzing;

/// <summary>Gives one part of the bus broken input, again and again: always the same input in a usual run, and new input for some time in
/// the soak. A round that fails says its number, with which it can be repeated.</summary>
/// <remarks><c>ESB_FUZZ_SECONDS</c> sets how long each fuzzer of the soak runs (120 s); <c>ESB_FUZZ_ROUND</c> runs one round alone.</remarks>
public abstract class Fuzzer
{
    private const int UsualRounds = 2_000;

    [Test, CancelAfter(120_000)]
    public void Broken_input_gets_an_error_at_most(CancellationToken cancellationToken)
    {
        if (Environment.GetEnvironmentVariable("ESB_FUZZ_ROUND") is { } one)
        {
            Run(int.Parse(one, CultureInfo.InvariantCulture));
            return;
        }

        for (var round = 0; round < UsualRounds; round++)
        {
            cancellationToken.ThrowIfCancellationRequested();
            Run(round);
        }

        AssertReach();
    }

    [Test, Category("Soak"), CancelAfter(3_600_000)]
    public void Broken_input_gets_an_error_at_most_for_minutes(CancellationToken cancellationToken)
    {
        var seconds = Environment.GetEnvironmentVariable("ESB_FUZZ_SECONDS") is { } set
            ? int.Parse(set, CultureInfo.InvariantCulture)
            : 120;
        var started = Stopwatch.GetTimestamp();
        var rounds = 0;
        for (
            var round = Random.Shared.Next(UsualRounds, int.MaxValue / 2);
            Stopwatch.GetElapsedTime(started).TotalSeconds < seconds;
            round++
        )
        {
            cancellationToken.ThrowIfCancellationRequested();
            Run(round);
            rounds++;
        }

        TestContext.Out.WriteLine($"{rounds:N0} rounds");
        AssertReach();
    }

    /// <summary>Gives one broken input, and checks what comes of it.</summary>
    protected abstract void Round(Random random);

    /// <summary>Checks that the rounds have reached what they are for: some input was accepted, and some refused.</summary>
    protected abstract void AssertReach();

    private void Run(int round)
    {
        try
        {
            Round(new Random(round));
        }
        catch (Exception ex)
        {
            throw new AssertionException($"Round {round}: {ex}", ex);
        }
    }
}
