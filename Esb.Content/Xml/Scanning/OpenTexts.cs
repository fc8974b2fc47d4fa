using System.Text;

namespace Esb.Content.Xml.Scanning;

/// <summary>The texts of open nodes that questions read.</summary>
/// <remarks>The text of an element is all text within it (XPath 1.0, section 5.2); adjacent text is one node (5.7).</remarks>
internal sealed class OpenTexts(PathAnswer[] answers)
{
    private const int TextNode = int.MaxValue; // deeper than any element

    private readonly List<(PathQuestion Question, int Depth, int Start)> _open = [];
    private readonly StringBuilder _text = new();

    public bool AreOpen => _open.Count > 0;

    /// <summary>True if the next text continues a text node that has begun.</summary>
    public bool IsInTextNode { get; private set; }

    /// <summary>An element begins.</summary>
    public void Begin(PathNode node, int depth)
    {
        foreach (var question in node.Questions)
        {
            ref var answer = ref answers[question.Index];
            if (!answer.IsDecided && question.Meet(ref answer))
                _open.Add((question, depth, _text.Length));
        }
    }

    /// <summary>A text node begins.</summary>
    public void BeginTextNode(PathNode node) => Begin(node, TextNode);

    /// <summary>An attribute, whole.</summary>
    public void Take(PathNode node, string value)
    {
        foreach (var question in node.Questions)
        {
            ref var answer = ref answers[question.Index];
            if (!answer.IsDecided && question.Meet(ref answer))
                question.Read(value, ref answer);
        }
    }

    /// <summary>Text that belongs to all that is open.</summary>
    public void Add(string text)
    {
        IsInTextNode = true;
        if (AreOpen)
            _text.Append(text);
    }

    /// <summary>Something that is no text: a text node before it has ended.</summary>
    public void EndTextNode()
    {
        IsInTextNode = false;
        End(TextNode);
    }

    /// <summary>The elements of a depth end.</summary>
    public void End(int depth)
    {
        while (_open.Count > 0 && _open[^1].Depth == depth)
        {
            var (question, _, start) = _open[^1];
            _open.RemoveAt(_open.Count - 1);
            ref var answer = ref answers[question.Index];
            if (!answer.IsDecided)
                question.Read(_text.ToString(start, _text.Length - start), ref answer);
        }

        if (_open.Count == 0)
            _text.Clear();
    }
}
