using System.Xml;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Content.Xml.Scanning;

/// <summary>A pass over a document that reads only as far as the questions need. Thread-safe.</summary>
/// <remarks>
/// Input behind the deciding node is not read, so its errors are not found. An error that was found is reported to every question beyond
/// it.
/// </remarks>
internal sealed class XmlScan
{
    private readonly Lock _gate = new();
    private readonly bool _checksWhole;
    private readonly XmlReader _reader;
    private readonly DocumentStream _taken;
    private readonly PathAnswer[] _answers;
    private readonly PathNode _root;
    private readonly ActiveSteps _steps = new();
    private readonly OpenTexts _texts;
    private EsbException? _error;
    private bool _isAtEnd;

    public XmlScan(PathSet paths, XmlInput xml, MessageBody body)
    {
        _checksWhole = paths.ChecksWhole;
        _answers = new PathAnswer[paths.Count];
        _texts = new OpenTexts(_answers);
        _reader = xml.ReadPieces(body, out _taken); // over an array, so it need not be closed
        _root = paths.Root;
        _steps.Enter(_root);
    }

    /// <summary>The number of bytes of the document that have been read.</summary>
    public long Position => _taken.Position;

    /// <summary>Reads until a question is decided, or to the end.</summary>
    /// <exception cref="EsbException">The document is not well-formed up to there (<see cref="XmlInput"/>).</exception>
    /// <exception cref="BodyNotCompleteException">The beginning of the document does not decide it.</exception>
    public PathAnswer Answer(PathQuestion question)
    {
        lock (_gate)
        {
            while ((_checksWhole || !_answers[question.Index].IsDecided) && !_isAtEnd)
                Advance();
            return _answers[question.Index];
        }
    }

    private void Advance()
    {
        if (_error is not null)
            throw new EsbException(_error.Code, _error.Message, _error.Kind, _error);
        try
        {
            if (_reader.Read())
                Follow();
            else
                _isAtEnd = true;
        }
        catch (EsbException ex)
        {
            _error = ex;
            throw;
        }
    }

    private void Follow()
    {
        switch (_reader.NodeType)
        {
            case XmlNodeType.Element:
                BeginElement();
                break;
            case XmlNodeType.EndElement:
                EndElement();
                break;
            case XmlNodeType.Text or XmlNodeType.CDATA or XmlNodeType.Whitespace or XmlNodeType.SignificantWhitespace:
                ReadText();
                break;
            default:
                _texts.EndTextNode(); // a comment or an instruction parts two of them
                break;
        }
    }

    private void BeginElement()
    {
        _texts.EndTextNode();
        var isEmpty = _reader.IsEmptyElement;
        var arrived = _steps.Begin(_reader);
        if (_steps.Depth == 1)
            GiveUpOtherRoots(arrived);
        foreach (var node in arrived)
            _texts.Begin(node, _steps.Depth);
        foreach (var step in _steps.Here)
        {
            if (step.Node.Step.Kind == PathStepKind.Attribute)
                ReadAttribute(step.Node);
        }

        if (isEmpty)
            EndElement();
    }

    private void ReadAttribute(PathNode node)
    {
        if (_reader.MoveToAttribute(node.Step.LocalName!, node.Step.Namespace))
        {
            _texts.Take(node, _reader.Value);
            _reader.MoveToElement();
        }

        if (node.IsUnique)
            GiveUp(node);
    }

    private void EndElement()
    {
        _texts.EndTextNode();
        _texts.End(_steps.Depth);
        while (_steps.Depth > 1 && _steps.TryLeave(out var node))
            GiveUp(node);
        _steps.End();
    }

    // A document has one root element: paths that begin with another one select no nodes.
    private void GiveUpOtherRoots(List<PathNode> arrived)
    {
        foreach (var node in _root.Next)
        {
            if (node.IsUnique && !arrived.Contains(node))
                GiveUp(node);
        }
    }

    // This step and its followers cannot be reached any more: their questions are decided as they stand.
    private void GiveUp(PathNode node)
    {
        foreach (var question in node.Questions)
            _answers[question.Index].IsDecided = true;
        foreach (var next in node.Next)
            GiveUp(next);
    }

    private void ReadText()
    {
        if (_steps.Depth == 0)
            return; // white space around the root element is no node
        var text = _reader.Value;
        if (text.Length == 0)
            return; // neither is an empty CDATA section
        if (!_texts.IsInTextNode)
        {
            foreach (var step in _steps.Here)
            {
                if (step.Node.Step.Kind == PathStepKind.Text)
                    _texts.BeginTextNode(step.Node);
            }
        }

        _texts.Add(text);
    }
}
