using Esb.Core.Storage;

namespace Esb.Tests.Storage;

public sealed class FailedAttemptsTests
{
    [Test]
    public void History_keeps_the_first_and_the_last_attempts_and_the_whole_reason_of_the_last()
    {
        IReadOnlyList<FailedAttempt> history = [];

        for (var i = 0; i < 100; i++)
            history = FailedAttempts.Add(history, new FailedAttempt(default, $"ESB-{i}", new string('x', 1000)));

        Assert.That(
            history.Select(failure => failure.Code),
            Is.EqualTo(new[] { "ESB-0" }.Concat(Enumerable.Range(85, 15).Select(i => $"ESB-{i}")))
        );
        Assert.That(history.SkipLast(1).Select(failure => failure.Reason.Length), Is.All.EqualTo(200));
        Assert.That(history[^1].Reason, Has.Length.EqualTo(1000));
    }

    [Test]
    public void Text_is_not_cut_within_a_character() => Assert.That(FailedAttempts.Cut("ab😀", 3), Is.EqualTo("ab"));
}
